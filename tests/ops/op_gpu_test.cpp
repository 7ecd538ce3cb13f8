// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What every operator's record promises, checked for each of its samples on a device: alone,
// between other operators (so that it is fused), and through its gradient; fused and unfused;
// twice.

#include "compile/compile.hpp"
#include "cpu/interpreter.hpp"
#include "ops/op_cases.hpp"
#include "support/random_cuts.hpp"
#include "support/vulkan_fixture.hpp"

#include <hearth/ops.hpp>

#include <gtest/gtest.h>
#include <standalone/program_runner.hpp>

#include <optional>

namespace hearth::test {
namespace {

class OnGpu : public SharedDeviceTest {
  protected:
    static void SetUpTestSuite() {
        SharedDeviceTest::SetUpTestSuite();
        if (device_ == nullptr || test_setting("HEARTH_TEST_FEATURES") != "required") return;
        standalone::DeviceOptions options = test_device_options();
        options.features = standalone::DeviceOptions().features;
        auto device = standalone::Device::create(*instance_, options);
        ASSERT_TRUE(device.ok()) << device.status().message();
        richer_caps_ = (*device)->caps().value();
    }

    /// Whether the same program, to the bit, runs on the host with optional features.  The suite runs on
    /// it as well, so that here only building is left to check: what the kernels ask of the device.  A
    /// software driver translates a kernel when it is first run, which is most of the suite's time.
    static bool is_run_on_richer_host(const Program& program, std::vector<Graph> graphs,
                                      CompileOptions options) {
        if (!richer_caps_) return false;
        options.caps = *richer_caps_;
        auto richer = compile_graphs(std::move(graphs), options);
        EXPECT_TRUE(richer.ok()) << richer.status().message();
        return richer.ok() && save_program(richer->program) == save_program(program);
    }

    /// A software driver takes most of the suite's time to translate kernels, so the everyday tests take a share of
    /// an operator's variants on each host: two of five on the main one, each seventh where kernels differ only in
    /// how they reach operands (descriptors) or in how narrow elements lie in memory (required features).  Neither
    /// number divides by two or three, so all forms of a sample get their turn.  That every kernel can be generated is
    /// the replay's to show; with HEARTH_TEST_EVERY, as the nightly tests have it, all are run.
    /// first  where to begin to count.
    static std::vector<Variant> share_of(std::vector<Variant> variants, size_t first = 0) {
        if (!test_setting("HEARTH_TEST_EVERY").empty()) return variants;
        const bool is_main_host = test_setting("HEARTH_TEST_BINDING") != "descriptor" &&
                                  test_setting("HEARTH_TEST_FEATURES") != "required";
        if (first >= variants.size()) first = 0;
        std::vector<Variant> share;
        for (size_t i = first; i < variants.size(); ++i) {
            const size_t turn = (i - first) % (is_main_host ? 5 : 7);
            if (turn == 0 || (is_main_host && turn == 2)) share.push_back(std::move(variants[i]));
        }
        return share;
    }

    /// Runs variants as entries of one program, compiled for more rows than there are.  No results:
    /// another host runs them, or a failure was reported.
    /// times  after the first time each run is cut at random, also in the middle of dispatches.
    static std::vector<NamedTensors> run(std::span<const Variant> variants, bool fuse,
                                         int times = 1) {
        std::vector<Graph> graphs;
        int64_t most_rows = 1;
        for (const Variant& v : variants) {
            graphs.push_back(v.graph);
            most_rows = std::max(most_rows, v.rows);
        }
        CompileOptions options;
        Result<DeviceCaps> caps = device_->caps();
        EXPECT_TRUE(caps.ok());
        options.caps = *caps;
        if (test_setting("HEARTH_TEST_BINDING") == "descriptor")
            options.binding_model = BindingModel::kDescriptor;
        options.rows_capacity = static_cast<uint64_t>(most_rows) + 5;
        options.fuse = fuse;
        std::vector<NamedTensors> results;
        auto compiled = compile_graphs(graphs, options);
        EXPECT_TRUE(compiled.ok()) << compiled.status().message();
        if (!compiled.ok()) return results;
        auto runner = standalone::ProgramRunner::create(*device_, save_program(compiled->program));
        EXPECT_TRUE(runner.ok()) << runner.status().message();
        if (!runner.ok() || is_run_on_richer_host(compiled->program, std::move(graphs), options))
            return results;
        for (int i = 0; i < times; ++i) {
            for (size_t n = 0; n < variants.size(); ++n) {
                const Variant& v = variants[n];
                const char* const entry = v.graph.name.c_str();
                auto outputs = i == 0 ? (*runner)->run(entry, v.rows, v.inputs)
                                      : (*runner)->run(entry, v.rows, v.inputs,
                                                       RandomCuts((*runner)->program(), entry, n));
                EXPECT_TRUE(outputs.ok()) << v.text << ": " << outputs.status().message();
                results.push_back(outputs.ok() ? std::move(outputs).value() : NamedTensors());
            }
        }
        return results;
    }

    static void expect_close(const NamedTensors& found, const NamedTensors& expected,
                             double tolerance, const std::string& text) {
        for (const auto& [name, value] : expected) {
            const auto at = found.find(name);
            ASSERT_NE(at, found.end()) << text << ": no output " << name;
            EXPECT_EQ(difference(at->second, value, tolerance), "") << text << ": " << name;
        }
    }

    static void expect_as_interpreted(std::vector<Variant> all, double tolerance,
                                      size_t first = 0) {
        const std::vector<Variant> variants = share_of(std::move(all), first);
        const std::vector<NamedTensors> found = run(variants, true);
        if (richer_caps_ && found.empty()) return;
        ASSERT_EQ(found.size(), variants.size());
        for (size_t i = 0; i < found.size(); ++i) {
            const Variant& v = variants[i];
            NamedTensors weights;
            auto expected = interpret(v.graph, v.inputs, weights, v.rows);
            ASSERT_TRUE(expected.ok()) << v.text << ": " << expected.status().message();
            expect_close(found[i], *expected, tolerance, v.text);
        }
    }

    /// On a host with exactly the required features: what the device can do with the optional ones.
    inline static std::optional<DeviceCaps> richer_caps_;
};

class OpOnGpu : public OnGpu, public testing::WithParamInterface<const OpDef*> {};
// Those that have such cases.
class TypedOnGpu : public OpOnGpu {};
class EmptyOnGpu : public OpOnGpu {};
class ProductOnGpu : public OnGpu, public testing::WithParamInterface<DType> {};

TEST_P(OpOnGpu, EqualsTheReferenceFusedAndUnfusedAndTwice) {
    const OpDef& op = *GetParam();
    auto made = variants_of(op);
    ASSERT_TRUE(made.ok()) << made.status().message();
    const std::vector<Variant> variants = share_of(std::move(made).value());
    if (variants.empty()) GTEST_SKIP() << op.name << " has only samples of types no GPU holds";
    const std::vector<NamedTensors> fused = run(variants, true, 2);
    const std::vector<NamedTensors> unfused = run(variants, false);
    const bool has_fused = !richer_caps_ || !fused.empty();
    const bool has_unfused = !richer_caps_ || !unfused.empty();
    ASSERT_TRUE(!has_fused || fused.size() == 2 * variants.size());
    ASSERT_TRUE(!has_unfused || unfused.size() == variants.size());
    for (size_t i = 0; (has_fused || has_unfused) && i < variants.size(); ++i) {
        const Variant& v = variants[i];
        NamedTensors weights;
        auto expected = interpret(v.graph, v.inputs, weights, v.rows);
        ASSERT_TRUE(expected.ok()) << v.text << ": " << expected.status().message();
        // Sums of products of the outputs: a gradient's error is that of several operators.
        const double tolerance = v.graph.name.ends_with("_gradient") ? 4 * op.tolerance.f32 + 1e-6
                                                                     : 2 * op.tolerance.f32;
        if (has_unfused) expect_close(unfused[i], *expected, tolerance, v.text + " unfused");
        if (!has_fused) continue;
        expect_close(fused[i], *expected, tolerance, v.text + " fused");
        EXPECT_EQ(fused[i], fused[i + variants.size()]) << v.text << " differs when it is cut";
    }
}

/// What rounding to `dtype` instead of f16 makes of a tolerance.
double tolerance_of(const OpDef& op, DType dtype) {
    return (dtype == DType::kBF16 ? 8 : 1) * op.tolerance.f16;
}

TEST_P(OpOnGpu, EqualsTheReferenceOnNarrowFloats) {
    const OpDef& op = *GetParam();
    for (const DType dtype : {DType::kF16, DType::kBF16}) {
        const auto variants = narrow_variants_of(op, dtype);
        ASSERT_TRUE(variants.ok()) << variants.status().message();
        if (variants->empty()) GTEST_SKIP() << op.name << " has no samples of floats";
        // So that the two types share the variants.
        expect_as_interpreted(*variants, tolerance_of(op, dtype), dtype == DType::kBF16 ? 1 : 0);
    }
}

TEST_P(TypedOnGpu, EqualsTheReferenceOnEveryElementTypeThatItsRecordAdmits) {
    const auto variants = variants_of(typed_cases_of(*GetParam()));
    ASSERT_TRUE(variants.ok()) << variants.status().message();
    expect_as_interpreted(*variants, 2 * GetParam()->tolerance.f32);
}

TEST_P(EmptyOnGpu, EqualsTheReferenceOnEmptyExtents) {
    const auto variants = variants_of(empty_cases_of(*GetParam()));
    ASSERT_TRUE(variants.ok()) << variants.status().message();
    expect_as_interpreted(*variants, 2 * GetParam()->tolerance.f32);
}

TEST_P(ProductOnGpu, EqualsTheReferenceWithEveryEpilogue) {
    const std::vector<Variant> variants = epilogues_behind_products_of(GetParam());
    EXPECT_GE(variants.size(), 20u);
    expect_as_interpreted(variants, is_floating(GetParam()) ? 2e-2 : 2e-5);
}

INSTANTIATE_TEST_SUITE_P(Of, ProductOnGpu, testing::ValuesIn(kProductTypes),
                         [](const auto& test) { return std::string(name_of(test.param)); });
TEST_F(OnGpu, AnyOfNoFlagsIsFalseAndAllOfNoneIsTrue) {
    Variant v;
    Trace trace("flags");
    const Tensor x = trace.input("x", {3, 0}, DType::kBool);
    trace.output("any", any(x, {1}));
    trace.output("all", all(x, {1}));
    v.graph = trace.finish().value();
    v.inputs["x"] = HostTensor(DType::kBool, Shape{3, 0});
    const std::vector<NamedTensors> found = run({&v, 1}, true);
    if (richer_caps_ && found.empty()) return;
    ASSERT_EQ(found.size(), 1u);
    for (int64_t i = 0; i < 3; ++i) {
        EXPECT_EQ(found[0].at("any").get_int(i), 0);
        EXPECT_EQ(found[0].at("all").get_int(i), 1);
    }
}

TEST_F(OnGpu, ProductsOfIntegersAreExactBeyondTheIntegersOfFloats) {
    // 4,096 * 127 * 255 is more than 2^24; one less does not get lost.
    Variant v;
    Trace trace("integers");
    const Tensor a = trace.input("a", {1, 4096}, DType::kI8);
    const Tensor b = trace.input("b", {4096, 1}, DType::kU8);
    trace.output("y", matmul_integer(a, b));
    v.graph = trace.finish().value();
    HostTensor left(DType::kI8, Shape{1, 4096}), right(DType::kU8, Shape{4096, 1});
    for (int64_t i = 0; i < 4096; ++i) {
        left.set_int(i, 127);
        right.set_int(i, i == 0 ? 254 : 255);
    }
    v.inputs = {{"a", left}, {"b", right}};
    const std::vector<NamedTensors> found = run({&v, 1}, true);
    if (richer_caps_ && found.empty()) return;
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].at("y").get_int(0), int64_t{4096} * 127 * 255 - 127);
}

const auto name_of_op = [](const auto& test) { return std::string(test.param->name); };
INSTANTIATE_TEST_SUITE_P(Every, TypedOnGpu, testing::ValuesIn(ops_with(typed_cases_of)),
                         name_of_op);
INSTANTIATE_TEST_SUITE_P(Every, EmptyOnGpu, testing::ValuesIn(ops_with(empty_cases_of)),
                         name_of_op);
INSTANTIATE_TEST_SUITE_P(AllOps, OpOnGpu, testing::ValuesIn(all_ops()), name_of_op);

}  // namespace
}  // namespace hearth::test
