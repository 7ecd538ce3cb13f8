// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "device/agents/curriculum.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace hearth::agents {
namespace {

struct Read {
    HostAllocator allocator;
    Curriculum curriculum;
    SpecText error;
    hearth_result result;

    explicit Read(std::string_view json) { result = curriculum.read(allocator, json, 4, error); }
    std::string lesson() const { return curriculum.lesson(0).lesson; }
};

/// Two lessons of which the first has these criteria.
std::string lessons(const std::string& criteria, const std::string& before = "") {
    return "{" + before + R"("environment_parameters": {"wall": {"curriculum": [
        {"name": "low", "value": 1, "completion_criteria": {)" +
           criteria + R"(}}, {"name": "high", "value": 4}]}}})";
}

void episode(Curriculum& curriculum, float value) {
    curriculum.add_reward(2, value / 2);
    curriculum.add_reward(2, value / 2);
    curriculum.end_episode(2);
}

TEST(Curriculum, WithoutOneThereAreNoParameters) {
    Read read("");
    EXPECT_EQ(read.result, HEARTH_OK);
    EXPECT_EQ(read.curriculum.size(), 0u);
    EXPECT_EQ(read.curriculum.find("wall"), UINT32_MAX);
    episode(read.curriculum, 1);
}

TEST(Curriculum, ParametersAreNumbersSamplersOrLessons) {
    Read read(R"({"seed": 3, "environment_parameters": {
        "gravity": -9.81e0,
        "mass": {"sampler_type": "uniform",
                 "sampler_parameters": {"min_value": 2, "max_value": 3}},
        "wind": {"curriculum": [{"name": "any", "value": {"sampler_type": "gaussian",
                 "sampler_parameters": {"mean": 10, "st_dev": 2}}}]}}})");
    ASSERT_EQ(read.result, HEARTH_OK) << read.error.c_str();
    Curriculum& c = read.curriculum;
    ASSERT_EQ(c.size(), 3u);
    EXPECT_EQ(c.draw(c.find("gravity")), -9.81);
    const uint32_t mass = c.find("mass"), wind = c.find("wind");
    double sum = 0, wind_sum = 0, wind_squares = 0;
    constexpr int kDraws = 4096;
    for (int i = 0; i < kDraws; ++i) {
        const double drawn = c.draw(mass), blown = c.draw(wind);
        EXPECT_GE(drawn, 2);
        EXPECT_LT(drawn, 3);
        sum += drawn, wind_sum += blown, wind_squares += (blown - 10) * (blown - 10);
    }
    // Five standard errors.
    EXPECT_NEAR(sum / kDraws, 2.5, 5 * std::sqrt(1.0 / 12 / kDraws));
    EXPECT_NEAR(wind_sum / kDraws, 10, 5 * 2 / std::sqrt(kDraws));
    EXPECT_NEAR(wind_squares / kDraws, 4, 5 * 4 * std::sqrt(2.0 / kDraws));
    EXPECT_EQ(c.lesson(0).count, 1u);
    EXPECT_STREQ(c.lesson(0).lesson, "");
}

TEST(Curriculum, DrawsDependOnTheSeedTheNameAndTheirNumberAlone) {
    const auto text = [](const char* seed) {
        return std::string(R"({"seed": )") + seed + R"(, "environment_parameters": {
            "a": {"sampler_type": "uniform", "sampler_parameters": {"min_value": 0, "max_value": 1}},
            "b": {"sampler_type": "uniform", "sampler_parameters": {"min_value": 0, "max_value": 1}}
            }})";
    };
    Read one(text("1")), same(text("1")), other(text("2"));
    const double first = one.curriculum.draw(0);
    (void)same.curriculum.draw(1);
    EXPECT_EQ(same.curriculum.draw(0), first);
    EXPECT_NE(one.curriculum.draw(0), first);
    EXPECT_NE(one.curriculum.draw(1), first);
    EXPECT_NE(other.curriculum.draw(0), first);
}

TEST(Curriculum, ALessonEndsWhenTheMeanReturnOfItsLengthExceedsTheThreshold) {
    Read read(lessons(R"("measure": "reward", "threshold": 1, "min_lesson_length": 3,
                          "signal_smoothing": false)"));
    ASSERT_EQ(read.result, HEARTH_OK) << read.error.c_str();
    EXPECT_TRUE(read.curriculum.measures_rewards());
    EXPECT_EQ(read.curriculum.draw(0), 1);
    for (const float value : {5.0f, 5.0f}) episode(read.curriculum, value);
    EXPECT_EQ(read.lesson(), "low") << "two of three episodes";
    episode(read.curriculum, -7);
    EXPECT_EQ(read.lesson(), "low") << "the mean is 1, not more";
    EXPECT_EQ(read.curriculum.lesson(0).signal, 1);
    episode(read.curriculum, 5);
    EXPECT_EQ(read.lesson(), "low") << "5, -7, 5 are the newest";
    episode(read.curriculum, 5);
    EXPECT_EQ(read.lesson(), "low");
    episode(read.curriculum, 5);
    EXPECT_EQ(read.lesson(), "high");
    EXPECT_EQ(read.curriculum.draw(0), 4);
    EXPECT_EQ(read.curriculum.lesson(0).episodes, 0u);
    for (int i = 0; i < 9; ++i) episode(read.curriculum, 100);
    EXPECT_EQ(read.lesson(), "high") << "the last one stays";
}

TEST(Curriculum, TheLastLessonStaysWhateverItsCriteria) {
    Read read(R"({"environment_parameters": {"wall": {"curriculum": [
        {"name": "only", "value": 1, "completion_criteria": {"threshold": 1}}]}}})");
    ASSERT_EQ(read.result, HEARTH_OK) << read.error.c_str();
    for (int i = 0; i < 3; ++i) episode(read.curriculum, 5);
    EXPECT_EQ(read.curriculum.lesson(0).index, 0u);
    EXPECT_EQ(read.curriculum.lesson(0).episodes, 3u);
}

TEST(Curriculum, SmoothingWeighsTheNewMeanThreeQuarters) {
    Read read(lessons(R"("measure": "reward", "threshold": 6, "min_lesson_length": 1)"));
    episode(read.curriculum, 0);
    episode(read.curriculum, 8);
    EXPECT_EQ(read.curriculum.lesson(0).signal, 6);
    EXPECT_EQ(read.lesson(), "low") << "6 is not more than 6";
    episode(read.curriculum, 8);
    EXPECT_EQ(read.lesson(), "high") << "0.25 * 6 + 0.75 * 8";
    // With a threshold below 0, a first value of 0 would end the lesson at once.
    Read negative(lessons(R"("measure": "reward", "threshold": -8)"));
    for (int i = 0; i < 5; ++i) episode(negative.curriculum, -10);
    EXPECT_EQ(negative.lesson(), "low");
}

TEST(Curriculum, RewardsOfAnAgentThatLeftAreNotCounted) {
    Read read(lessons(R"("measure": "reward", "threshold": 1)"));
    read.curriculum.add_reward(1, 50);
    read.curriculum.begin_episode(1);
    read.curriculum.end_episode(1);
    read.curriculum.add_reward(9, 50);  // no such agent
    read.curriculum.end_episode(9);
    EXPECT_EQ(read.lesson(), "low");
    EXPECT_EQ(read.curriculum.lesson(0).episodes, 1u);
}

TEST(Curriculum, ProgressIsTheShareOfMaxSteps) {
    Read read(lessons(R"("measure": "progress", "threshold": 0.5, "min_lesson_length": 1)",
                      R"("max_steps": 100, )"));
    ASSERT_EQ(read.result, HEARTH_OK) << read.error.c_str();
    EXPECT_FALSE(read.curriculum.measures_rewards());
    read.curriculum.count_steps(60);
    EXPECT_EQ(read.lesson(), "low") << "no episode has ended";
    episode(read.curriculum, 0);
    EXPECT_EQ(read.lesson(), "high");
    read.curriculum.restart();
    EXPECT_EQ(read.lesson(), "low");
    episode(read.curriculum, 0);
    read.curriculum.count_steps(50);
    EXPECT_EQ(read.lesson(), "low") << "0.5 is not more than 0.5";
    read.curriculum.count_steps(1);
    EXPECT_EQ(read.lesson(), "high");
}

TEST(Curriculum, AMetricOfTheGameEndsALesson) {
    Read read(lessons(R"("measure": "success", "behavior": "Wolf", "threshold": 0.4,
                          "min_lesson_length": 2, "signal_smoothing": false)"));
    ASSERT_EQ(read.result, HEARTH_OK) << read.error.c_str();
    read.curriculum.add_metric("failure", 1);
    episode(read.curriculum, 9);
    EXPECT_EQ(read.curriculum.lesson(0).episodes, 0u);
    read.curriculum.add_metric("success", 0);
    read.curriculum.add_metric("success", 1);
    EXPECT_EQ(read.lesson(), "high");
}

TEST(Curriculum, IsSavedAndGoesOn) {
    const std::string text = lessons(R"("measure": "reward", "threshold": 1,
                                        "min_lesson_length": 2)");
    Read played(text), resumed(text), other(lessons(R"("measure": "reward", "threshold": 2,
                                        "min_lesson_length": 2)"));
    episode(played.curriculum, 0);
    played.curriculum.add_reward(2, 3);
    Archive size = Archive::measure();
    played.curriculum.archive(size);
    std::vector<std::byte> bytes(size.position());
    Archive saved = Archive::write(bytes);
    played.curriculum.archive(saved);
    Archive read = Archive::read(bytes);
    resumed.curriculum.archive(read);
    for (Curriculum* c : {&played.curriculum, &resumed.curriculum}) {
        c->end_episode(2);
        EXPECT_STREQ(c->lesson(0).lesson, "high") << "the mean of 0 and 3";
    }
    episode(other.curriculum, 0);
    Archive foreign = Archive::read(bytes);
    other.curriculum.archive(foreign);
    EXPECT_EQ(other.curriculum.lesson(0).episodes, 0u) << "another curriculum begins anew";
    // A lesson that does not exist, and signals that are no numbers.
    for (size_t at = 16; at < bytes.size(); ++at) {
        std::vector<std::byte> changed = bytes;
        changed[at] = std::byte{0xff};
        Read any(text);
        Archive hostile = Archive::read(changed);
        any.curriculum.archive(hostile);
        episode(any.curriculum, 1);
        EXPECT_LT(any.curriculum.lesson(0).index, 2u) << at;
        EXPECT_TRUE(std::isfinite(any.curriculum.lesson(0).signal)) << at;
    }
}

TEST(Curriculum, WhatIsWrongIsNamedWithItsLine) {
    const struct {
        std::string json, says;
    } wrong[] = {
        {"[]", "line 1: expected an object"},
        {"{\n\"environment_parameters\": {\"a\": 1}", "line 2: expected a comma"},
        {"{\"environment_parameters\": {\"a\": 1}} x", "expected the end of the file"},
        {"{}", "environment_parameters: expected this key"},
        {"{\"environment_parameters\": {}}", "expected at least one parameter"},
        {"{\"environment_parameters\": {\"a\": 1, \"a\": 2}}", "expected each parameter once"},
        {"{\"environment_parameters\": {\"a\": \"low\"}}", "expected a number"},
        {"{\"environment_parameters\": {\"a\": 1e999}}", "expected a number below 1e308"},
        {"{\"environment_parameters\": {\"a\": {}}}", "a: expected a number, a sampler or"},
        {"{\"environment_parameters\": {\"a\": {\"curriculum\": []}}}", "at least one lesson"},
        {"{\"environment_parameter\": 1}", "unknown key 'environment_parameter'; expected"},
        {"{\"environment_parameters\": {\"a\": {\"curriculum\": [{\"value\": 1}]}}}",
         "a: expected a name and a value in each lesson"},
        {R"({"environment_parameters": {"a": {"curriculum": [{"name": "x", "value": 1},
             {"name": "y", "value": 2}]}}})",
         "'a', lesson 'x': expected completion_criteria"},
        {R"({"environment_parameters": {"a": {"sampler_type": "normal"}}})",
         "sampler_type: expected uniform or gaussian"},
        {R"({"environment_parameters": {"a": {"sampler_type": "uniform",
             "sampler_parameters": {"min_value": 2, "max_value": 1}}}})",
         "expected a max_value of at least min_value"},
        {R"({"environment_parameters": {"a": {"sampler_type": "uniform",
             "sampler_parameters": {"min_value": 2}}}})",
         "sampler_parameters: expected min_value and max_value"},
        {lessons(R"("measure": "reward")"), "completion_criteria: expected a threshold"},
        {lessons(R"("measure": "progress", "threshold": 0.5)"),
         "lesson 'low': expected max_steps above 0"},
        {lessons(R"("measure": "", "threshold": 0.5)"), "measure: expected a text of 1 to 63"},
        {lessons(R"("threshold": 0.5, "min_lesson_length": 4097)"), "episodes up to 4096"},
        {lessons(R"("threshold": 0.5, "min_lesson_length": 1.5)"), "episodes up to 4096"},
        {lessons(R"("threshold": 0.5, "signal_smoothing": 1)"), "expected true or false"},
        {lessons(R"("threshold": 0.5, "window": 1)"), "unknown key 'window'; expected measure,"},
        {lessons(R"("threshold": 0.5, "measure": "a\u0041")"), "a text without escapes"}};
    for (const auto& [json, says] : wrong) {
        Read read(json);
        EXPECT_EQ(read.result, HEARTH_ERROR_INVALID_ARGUMENT) << json;
        EXPECT_NE(std::string(read.error.c_str()).find(says), std::string::npos)
            << json << "\n"
            << read.error.c_str();
    }
}

TEST(Curriculum, EachTruncationIsRefusedAndChangedBytesAreHarmless) {
    const std::string text = lessons(R"("measure": "reward", "threshold": 1)", "\"seed\": 1, ");
    for (size_t size = 1; size < text.size(); ++size) {
        Read read(text.substr(0, size));
        EXPECT_NE(read.result, HEARTH_OK) << size;
        EXPECT_FALSE(read.error.empty()) << size;
    }
    for (size_t at = 0; at < text.size(); ++at)
        for (const char c : {'\0', '"', '{', '}', '[', ']', ',', '9', '-', '\xff'}) {
            std::string changed = text;
            changed[at] = c;
            Read read(changed);
            if (read.result != HEARTH_OK) continue;
            for (uint32_t i = 0; i < read.curriculum.size(); ++i)
                EXPECT_TRUE(std::isfinite(read.curriculum.draw(i)));
        }
}

TEST(Curriculum, ManyParametersAndLessonsAreRefused) {
    std::string many = R"({"environment_parameters": {)";
    for (int i = 0; i < 33; ++i) many += (i ? ",\"p" : "\"p") + std::to_string(i) + "\": 1";
    EXPECT_NE(std::string(Read(many + "}}").error.c_str()).find("at most 32 parameters"),
              std::string::npos);
    std::string list;
    for (int i = 0; i < 129; ++i)
        list += std::string(i ? "," : "") +
                R"({"name": "n", "value": 1, "completion_criteria": {"threshold": 1}})";
    EXPECT_NE(
        std::string(Read(R"({"environment_parameters": {"a": {"curriculum": [)" + list + "]}}}")
                        .error.c_str())
            .find("at most 128 lessons"),
        std::string::npos);
}

}  // namespace
}  // namespace hearth::agents
