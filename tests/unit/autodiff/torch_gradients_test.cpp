// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Values and gradients against PyTorch's, both in double.

#include "compiler/interpreter/interpreter.hpp"
#include "ops/op_cases.hpp"
#include "support/cases.hpp"

#include <gradient_cases/gradient_cases.hpp>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace hearth::test {
namespace {

using gradient_cases::GradientCase;

class TorchGradient : public testing::TestWithParam<GradientCase> {};

void check(const GradientCase& c, const std::filesystem::path& path) {
    const auto data = gradient_cases::read_data(path);
    ASSERT_TRUE(data.ok()) << data.status().message();
    EXPECT_EQ(data->name, c.name);
    const auto graph = gradient_cases::trace_case(c, *data, DType::kF64)->build();
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    NamedTensors weights;
    const auto results = interpret(*graph, data->named_inputs(DType::kF64), weights);
    ASSERT_TRUE(results.ok()) << results.status().message();
    for (const auto& [name, expected] : data->expected(DType::kF64))
        EXPECT_EQ(difference(results->at(name), expected, name == "y" ? 1e-12 : 1e-11), "") << name;
}

TEST_P(TorchGradient, EqualsTheStoredOne) {
    const auto paths =
        reference_cases::places_of("autograd/" + std::string(GetParam().name) + ".json");
    ASSERT_FALSE(paths.empty());
    for (const std::filesystem::path& path : paths) {
        SCOPED_TRACE(path.string());
        check(GetParam(), path);
    }
}

INSTANTIATE_TEST_SUITE_P(Each, TorchGradient, testing::ValuesIn(gradient_cases::all_cases()),
                         [](const auto& c) { return std::string(c.param.name); });

TEST(GradientCases, AreSortedSoThatEachIsFound) {
    for (const GradientCase& c : gradient_cases::all_cases())
        EXPECT_EQ(gradient_cases::find_case(c.name), &c) << c.name;
    EXPECT_EQ(gradient_cases::find_case("no_such_case"), nullptr);
}

TEST(GradientCases, FilesThatAreNoneAreErrorsThatNameThem) {
    const auto path = std::filesystem::path(testing::TempDir()) / "hearth_gradient_case.json";
    const auto error_of = [&path](const char* text) {
        std::ofstream(path) << text;
        const auto data = gradient_cases::read_data(path);
        return data.ok() ? std::string() : data.status().message();
    };
    for (const char* text :
         {"", "{", "[]", "{\"name\": \"abs\"}", "{\"name\": 3}",
          R"({"name": "abs", "inputs": [{"shape": [3], "data": [1, 2]}]})",
          R"({"name": "abs", "inputs": [], "output": {"shape": [1], "data": ["x"]}})"})
        EXPECT_NE(error_of(text).find("hearth_gradient_case.json"), std::string::npos) << text;
    EXPECT_EQ(error_of(R"({"name": "abs", "inputs": [], "output": {"shape": [1], "data": [1]},
                           "grad_output": [1], "grad_inputs": []})"),
              "");
    std::filesystem::remove(path);
    EXPECT_FALSE(gradient_cases::read_data(path).ok());
}

}  // namespace
}  // namespace hearth::test
