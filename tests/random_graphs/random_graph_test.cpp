// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Random graphs give the same on the interpreter, as planned Programs on the CPU, and on a device.
//
// HEARTH_GRAPHS     how many (250; with HEARTH_TEST_EVERY 500)
// HEARTH_GRAPHS_AT  the first seed (0)
//
// A twentieth of them also with products that read f16.
//
// A failure prints the seed and the smallest graph found that still fails.

#include "compiler/driver/compile.hpp"
#include "compiler/interpreter/interpreter.hpp"
#include "compiler/interpreter/run_program.hpp"
#include "compiler/passes/pass.hpp"
#include "random_graphs/recipe.hpp"
#include "support/vulkan_fixture.hpp"

#include <gtest/gtest.h>
#include <standalone/program_runner.hpp>

#include <cmath>
#include <cstdlib>

namespace hearth::test {
namespace {

constexpr uint64_t kShards = 8, kBatch = 8, kMixedPart = 20;

uint64_t number_from(const char* setting, uint64_t fallback) {
    const char* text = std::getenv(setting);
    return text != nullptr ? std::strtoull(text, nullptr, 10) : fallback;
}

struct Outcome {
    NamedTensors outputs;
    NamedTensors weights;  ///< after the run
};

Result<Outcome> interpreted(const Variant& v, double inputs_off_by = 0) {
    Outcome result;
    NamedTensors inputs = v.inputs;
    for (auto& [name, tensor] : inputs)
        for (int64_t i = 0; is_floating(tensor.dtype()) && i < tensor.element_count(); ++i)
            tensor.set(i, tensor.get(i) * (1 + (i % 2 == 0 ? inputs_off_by : -inputs_off_by)));
    HEARTH_ASSIGN(result.outputs, interpret(v.graph, inputs, result.weights, v.rows));
    return result;
}

double largest(const HostTensor& t) {
    double most = 0;
    for (int64_t i = 0; i < t.element_count(); ++i)
        if (std::isfinite(t.get(i))) most = std::max(most, std::abs(t.get(i)));
    return most;
}

/// The graph as it is rounded where products read f16, or, in f32, as it is.
Result<Graph> rounded(const Graph& graph, const CompileOptions& options) {
    if (options.precision == Precision::kF32) return graph;
    const PassOptions pass_options{.max_batch_size = options.max_batch_size,
                                   .caps = options.caps,
                                   .precision = options.precision};
    HEARTH_ASSIGN(Graph now, decompose(graph, pass_options));
    HEARTH_ASSIGN(now, fold_constants(now, pass_options));
    return mix_precision(now, pass_options);
}

/// The first element where found is neither near what is expected nor as far from it as the result
/// moves when the inputs move by a few units in the last place.
/// step: the unit of which a result may be some off, as a part of the largest element.
std::string compare(const NamedTensors& found, const NamedTensors& expected,
                    const NamedTensors& moved, double step) {
    for (const auto& [name, want] : expected) {
        const auto at = found.find(name);
        if (at == found.end()) return name + ": missing";
        const HostTensor& have = at->second;
        const HostTensor& other = moved.find(name)->second;
        if (have.shape() != want.shape() || have.dtype() != want.dtype())
            return name + ": another type or shape";
        double condition = 0;
        for (int64_t i = 0; i < want.element_count(); ++i)
            if (const double d = std::abs(want.get(i) - other.get(i)); std::isfinite(d))
                condition = std::max(condition, d);
        const double tolerance = step * std::max(1.0, largest(want)) + 30 * condition;
        for (int64_t i = 0; i < want.element_count(); ++i) {
            const double a = have.get(i), b = want.get(i);
            if (!std::isfinite(b) || std::abs(a - b) <= tolerance) continue;
            return name + ": element " + std::to_string(i) + " is " + std::to_string(a) +
                   ", expected " + std::to_string(b);
        }
    }
    return "";
}

class RandomGraphs : public SharedDeviceTest, public testing::WithParamInterface<uint64_t> {
  protected:
    /// What is wrong with these recipes, as entries of one program; empty: nothing.
    static std::string check(std::span<const Recipe> recipes, Precision precision) {
        CompileOptions options;
        options.caps = *device_->caps();
        options.assume_int32 = !options.caps.shader_int64;  // inputs are small
        options.max_batch_size = 11;
        options.fuse_mlp = FuseMlp::kAlways;
        options.precision = precision;
        std::vector<Variant> variants;
        std::vector<Graph> graphs;
        for (const Recipe& recipe : recipes) {
            Result<Variant> made = follow(recipe);
            if (!made.ok()) return "does not build: " + made.status().message();
            graphs.push_back(made->graph);
            Result<Graph> wanted = rounded(made->graph, options);
            if (!wanted.ok()) return "does not round: " + wanted.status().message();
            made->graph = std::move(wanted).value();
            variants.push_back(std::move(made).value());
        }
        auto compiled = compile_graphs(std::move(graphs), options);
        if (!compiled.ok()) return "does not compile: " + compiled.status().message();
        auto runner = standalone::ProgramRunner::create(*device_, save_program(compiled->program));
        if (!runner.ok()) return "does not load: " + runner.status().message();
        for (size_t i = 0; i < variants.size(); ++i) {
            std::string fault = check_one(variants[i], precision, *compiled, i, **runner);
            if (!fault.empty()) return fault;
        }
        return "";
    }

    static std::string check_one(const Variant& v, Precision precision,
                                 const CompiledProgram& compiled, size_t entry,
                                 standalone::ProgramRunner& runner) {
        // An f16 has 11 bits; sums of another order may be rounded the other way.
        const bool is_mixed = precision == Precision::kF16;
        const double step = is_mixed ? 4e-3 : 1e-4;
        const auto expected = interpreted(v), moved = interpreted(v, is_mixed ? 1e-3 : 1e-6);
        if (!expected.ok()) return "interpreter: " + expected.status().message();
        ProgramMemory memory(compiled.program);
        auto planned = run_program(compiled.program, v.graph.name, compiled.graphs[entry], v.inputs,
                                   memory, v.rows);
        if (!planned.ok()) return "planned: " + planned.status().message();
        auto on_device = runner.run(v.graph.name.c_str(), v.rows, v.inputs);
        if (!on_device.ok()) return "device: " + on_device.status().message();
        for (const auto& [how, found] :
             {std::pair{"planned", &*planned}, std::pair{"device", &*on_device}}) {
            const std::string fault = compare(*found, expected->outputs, moved->outputs, step);
            if (!fault.empty()) return std::string(how) + ": " + fault;
        }
        return check_weights(*expected, *moved, step, compiled.program, memory, runner);
    }

    static std::string check_weights(const Outcome& expected, const Outcome& moved, double step,
                                     const Program& program, const ProgramMemory& memory,
                                     standalone::ProgramRunner& runner) {
        NamedTensors planned, on_device;
        for (const Variable& slot : program.variables) {
            if (!expected.weights.contains(slot.name)) continue;
            planned[slot.name] = memory.read(slot);
            auto read = runner.read_variable(slot.name.c_str());
            if (!read.ok()) return "device: " + read.status().message();
            on_device[slot.name] = std::move(read).value();
        }
        const std::string fault = compare(planned, expected.weights, moved.weights, step);
        if (!fault.empty()) return "planned: " + fault;
        const std::string other = compare(on_device, expected.weights, moved.weights, step);
        return other.empty() ? "" : "device: " + other;
    }

    static std::string report(const Recipe& failing, Precision precision,
                              const std::string& fault) {
        auto fails = [&](const Recipe& r) { return !check({&r, 1}, precision).empty(); };
        const Recipe smallest = shrink(failing, fails);
        Result<Variant> made = follow(smallest);
        std::string text = "seed " + std::to_string(failing.seed) + ": " + fault + "\nshrunk to " +
                           std::to_string(smallest.steps.size()) + " of " +
                           std::to_string(failing.steps.size()) + " steps, rows " +
                           std::to_string(smallest.rows) + ": " + check({&smallest, 1}, precision) +
                           "\n";
        return made.ok() ? text + print(made->graph) : text;
    }

    /// Checks the graphs of the seeds [begin, end); stops at the first that fails.
    static void check_seeds(uint64_t begin, uint64_t end, Precision precision) {
        for (uint64_t seed = begin; seed < end; seed += kBatch) {
            std::vector<Recipe> batch;
            for (uint64_t s = seed; s < std::min(end, seed + kBatch); ++s)
                batch.push_back(make_recipe(s));
            const std::string fault = check(batch, precision);
            if (fault.empty()) continue;
            bool is_found = false;
            for (const Recipe& recipe : batch) {
                const std::string alone = check({&recipe, 1}, precision);
                if (alone.empty()) continue;
                is_found = true;
                ADD_FAILURE() << report(recipe, precision, alone);
            }
            if (!is_found)
                ADD_FAILURE() << "seeds " << seed << " to " << seed + batch.size() - 1
                              << " only together: " << fault;
            if (testing::Test::HasFailure()) return;  // one graph to look at is enough
        }
    }

    /// The part of `total` seeds that is this shard's.
    static void check_shard(uint64_t total, Precision precision) {
        const uint64_t begin = number_from("HEARTH_GRAPHS_AT", 0);
        check_seeds(begin + total * GetParam() / kShards,
                    begin + total * (GetParam() + 1) / kShards, precision);
    }
};

int64_t graphs_by_default() {
    return test_setting("HEARTH_TEST_EVERY").empty() ? 250 : 500;
}

TEST_P(RandomGraphs, AgreeOnTheInterpreterThePlannedProgramAndTheDevice) {
    check_shard(number_from("HEARTH_GRAPHS", graphs_by_default()), Precision::kF32);
}

TEST_P(RandomGraphs, AgreeWhereProductsReadF16) {
    check_shard(number_from("HEARTH_GRAPHS", graphs_by_default()) / kMixedPart, Precision::kF16);
}

INSTANTIATE_TEST_SUITE_P(Shard, RandomGraphs, testing::Range(uint64_t{0}, kShards));

}  // namespace
}  // namespace hearth::test
