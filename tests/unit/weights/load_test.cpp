// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/ir/graph.hpp"
#include "import/weights/pattern.hpp"

#include <hearth/weights.hpp>

#include <gtest/gtest.h>

namespace hearth {
namespace {

HostTensor filled(const Shape& shape, double value, DType dtype = DType::kF32) {
    HostTensor t(dtype, shape);
    for (int64_t i = 0; i < t.element_count(); ++i) t.set(i, value);
    return t;
}

std::string renamed(const KeyRule& rule, const std::string& name) {
    const auto result = remap_key(std::span(&rule, 1), name);
    return result.ok() ? *result : "error: " + result.status().message();
}

TEST(NameRules, PrefixesAreTakenOffAndPutOn) {
    EXPECT_EQ(renamed(KeyRule::strip_prefix("module."), "module.fc.weight"), "fc.weight");
    EXPECT_EQ(renamed(KeyRule::strip_prefix("module."), "fc.module.weight"), "fc.module.weight");
    EXPECT_EQ(renamed(KeyRule::add_prefix("actor."), "fc.weight"), "actor.fc.weight");
}

TEST(NameRules, PatternsReplaceWhatTheyMatch) {
    const auto replaced = [](const char* pattern, const char* with, const char* name) {
        return renamed(KeyRule::replace(pattern, with), name);
    };
    EXPECT_EQ(replaced(R"(layers\.(\d+)\.)", "blocks.$1.", "layers.12.weight"), "blocks.12.weight");
    EXPECT_EQ(replaced("a", "b", "banana"), "bbnbnb");
    EXPECT_EQ(replaced("^a|a$", "<$0>", "abcba"), "<a>bcb<a>");
    EXPECT_EQ(replaced(R"((\w+)\.(weight|bias)$)", "$2_of_$1", "net.fc1.weight"),
              "net.weight_of_fc1");
    EXPECT_EQ(replaced("[^a-z.]+", "#", "ab12.c-D"), "ab#.c#");
    EXPECT_EQ(replaced("(?:ab)*c", "", "ababcab"), "ab");
    EXPECT_EQ(replaced("a{2,3}", "x", "aaaaaa a"), "xx a");
    EXPECT_EQ(replaced("x*", "-", "axb"), "-a--b-");
    EXPECT_EQ(replaced("(a*)*b", "[$1]", "aab"), "[aa]");
    EXPECT_EQ(replaced("[]a]+", "x", "a]b"), "xb");
    EXPECT_EQ(replaced("", "", "same"), "same");
    EXPECT_EQ(replaced("a", "$", "abc"), "$bc");
    EXPECT_EQ(replaced("[a-a]", "x", "abc"), "xbc");
    EXPECT_EQ(replaced("a{2}", "x", "aaaaa"), "xxa");
    EXPECT_EQ(replaced("a{2,}", "x", "aaaaa a"), "x a");
    EXPECT_EQ(replaced("(?:a|b){2,2}c", "x", "abcbc"), "xbc");
    EXPECT_EQ(replaced("[\\d\\s]", "", "a 1\tb"), "ab");
    EXPECT_EQ(replaced("[^\\W_]+", "x", "ab_c"), "x_x");
    EXPECT_EQ(replaced("\\D|\\S", "", "1a 2"), "");
    EXPECT_EQ(replaced("\\.\\*", "x", "a.*"), "ax");
    EXPECT_EQ(
        replaced(std::string("^").append("a{1024}$").c_str(), "x", std::string(1024, 'a').c_str()),
        "x");
    EXPECT_EQ(replaced("colou?r", "tint", "color colour colr"), "tint tint colr");
}

TEST(NameRules, WhatIsNoPatternIsRejectedWithItsPlace) {
    for (const char* pattern : {"(", ")", "[", "[a", "*", "a**", "\\", "a{", "a{2", "a{3,2}",
                                "[b-a]", "(?:", "a|*", "+", "?", "{2}", "[a-", "a{,2}", "[\\"})
        EXPECT_EQ(Pattern::parse(pattern).status().code(), StatusCode::kInvalidArgument) << pattern;
    EXPECT_EQ(renamed(KeyRule::replace("ab(c", "x"), "a"),
              "error: pattern 'ab(c' has a ( without a ) at character 4");
    for (const char* replacement : {"$1", "$/", "$-", "$a", "$:"})
        EXPECT_EQ(renamed(KeyRule::replace("a", replacement), "a"),
                  "error: replacement '" + std::string(replacement) +
                      "' has $ without the number of a group");
    // A number has one digit, however many groups there are.
    EXPECT_EQ(renamed(KeyRule::replace("(a)(a)(a)(a)(a)(a)(a)(a)(b)(c)", "$9"), "aaaaaaaabc"), "b");
    EXPECT_NE(renamed(KeyRule::replace("(a)(a)(a)(a)(a)(a)(a)(a)(b)(c)", "$:"), "aaaaaaaabc")
                  .find("without the number"),
              std::string::npos);
    // Nothing is read behind the end of the pattern.
    for (const std::string_view whole : {"(a)", "a\\\\", "[a]", "a{2}"}) {
        EXPECT_TRUE(Pattern::parse(whole).ok()) << whole;
        EXPECT_FALSE(Pattern::parse(whole.substr(0, whole.size() - 1)).ok()) << whole;
    }
    const auto nested = [](size_t depth) {
        return Pattern::parse(std::string(depth, '(') + "a" + std::string(depth, ')'));
    };
    EXPECT_TRUE(nested(19).ok());
    EXPECT_EQ(nested(20).status().message(), "pattern '" + std::string(20, '(') + "a" +
                                                 std::string(20, ')') +
                                                 "' has groups nested too deeply at character 20");
}

TEST(NameRules, PatternsThatTakeForeverGiveUp) {
    EXPECT_NE(renamed(KeyRule::replace("(a|a)*(a|a)*b", "x"), std::string(60, 'a')).find("steps"),
              std::string::npos);
    EXPECT_NE(renamed(KeyRule::replace(".*", "x"), std::string(5000, 'a')).find("5000"),
              std::string::npos);
}

struct Net {
    Trace trace{"net"};
    Net() {
        trace.param("fc.weight", {2, 3});
        trace.param("fc.bias", {2});
        trace.state("norm.mean", {2});
    }
};

TEST(LoadWeights, FillsParamsAndStatesOfATrace) {
    Net net;
    const NamedTensors file{{"module.fc.weight", filled({2, 3}, 1)},
                            {"module.fc.bias", filled({2}, 2, DType::kF16)},
                            {"module.norm.mean", filled({2}, 3)}};
    const auto report =
        load_weights(file, net.trace, {.rules = {KeyRule::strip_prefix("module.")}});
    ASSERT_TRUE(report.ok()) << report.status().message();
    EXPECT_TRUE(report->is_complete());
    EXPECT_EQ(report->loaded, (std::vector<std::string>{"fc.bias", "fc.weight", "norm.mean"}));
    const NamedTensors weights = state_dict(net.trace, true);
    EXPECT_EQ(weights.at("fc.weight"), filled({2, 3}, 1));
    EXPECT_EQ(weights.at("fc.bias"), filled({2}, 2));
    EXPECT_EQ(weights.at("norm.mean"), filled({2}, 3));
    EXPECT_EQ(state_dict(net.trace).size(), 2u);
}

TEST(LoadWeights, TheReportNamesAllThatDoesNotFitAndNothingChanges) {
    Net net;
    const NamedTensors file{{"fc.weight", filled({3, 2}, 1)},
                            {"head.weight", filled({1}, 1)},
                            {"norm.mean", filled({2}, 3)}};
    const auto strict = load_weights(file, net.trace);
    ASSERT_FALSE(strict.ok());
    EXPECT_EQ(strict.status().message(),
              "the weights do not match the program: 1 loaded; 1 missing: fc.bias; 1 unexpected: "
              "head.weight; 1 misshapen: fc.weight (expected f32[2, 3], found f32[3, 2])");
    EXPECT_EQ(state_dict(net.trace, true).at("norm.mean"), filled({2}, 0));

    const auto loose = load_weights(file, net.trace, {.strict = false});
    ASSERT_TRUE(loose.ok());
    EXPECT_FALSE(loose->is_complete());
    EXPECT_EQ(loose->missing, std::vector<std::string>{"fc.bias"});
    EXPECT_EQ(state_dict(net.trace, true).at("norm.mean"), filled({2}, 3));
}

TEST(LoadWeights, IntegersAreNoFloatsAndRoundingCanBeForbidden) {
    NamedTensors into{{"x", filled({2}, 0)}};
    EXPECT_FALSE(load_weights({{"x", filled({2}, 1, DType::kI32)}}, into).ok());
    const NamedTensors wide{{"x", filled({2}, 1, DType::kF64)}};
    EXPECT_FALSE(load_weights(wide, into, {.convert = false}).ok());
    EXPECT_TRUE(load_weights(wide, into).ok());
    EXPECT_EQ(into.at("x"), filled({2}, 1));
}

TEST(LoadWeights, NamesThatBecomeOneAreAnError) {
    NamedTensors into{{"x", filled({2}, 0)}};
    const NamedTensors file{{"a.x", filled({2}, 1)}, {"b.x", filled({2}, 2)}};
    const auto report = load_weights(file, into, {.rules = {KeyRule::replace("^[ab]\\.", "")}});
    ASSERT_FALSE(report.ok());
    EXPECT_NE(report.status().message().find("both renamed to 'x'"), std::string::npos);
}

}  // namespace
}  // namespace hearth
