// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// LibTorch as an executor: every operator and its gradient give what the reference gives, by
// arithmetic that is not Hearth's.

#include "libtorch/libtorch_executor.hpp"
#include "ops/op_cases.hpp"
#include "promises.hpp"

#include <gtest/gtest.h>

namespace hearth::test {
namespace {

TEST(LibtorchExecutor, KeepsItsPromises) {
    expect_promises(*make_libtorch_executor());
}

class OpOnLibtorch : public testing::TestWithParam<const OpDef*> {};

/// tolerance  of the reference's sums in double to LibTorch's in the type of the result
void expect_as_referenced(const OpDef& op, std::span<const Variant> variants, double tolerance) {
    const auto executor = make_libtorch_executor(), reference = make_reference_executor();
    for (const Variant& v : variants) {
        const Status loaded = executor->load({v.graph}, v.batch_size);
        if (op.name.starts_with("test_") && op.decompose == nullptr) {
            EXPECT_EQ(loaded.code(), StatusCode::kUnsupported);
            EXPECT_EQ(loaded.message(), "there is no operator " + std::string(op.name) +
                                            ", nor a decomposition of it");
            continue;
        }
        ASSERT_TRUE(loaded.ok()) << v.text << ": " << loaded.message();
        ASSERT_TRUE(reference->load({v.graph}, v.batch_size).ok());
        const auto expected = reference->run(v.graph.name, v.inputs, v.batch_size);
        const auto found = executor->run(v.graph.name, v.inputs, v.batch_size);
        ASSERT_TRUE(expected.ok()) << v.text << ": " << expected.status().message();
        ASSERT_TRUE(found.ok()) << v.text << ": " << found.status().message();
        for (const auto& [name, value] : *expected)
            EXPECT_EQ(difference(found->at(name), value, tolerance), "") << v.text << ": " << name;
    }
}

TEST_P(OpOnLibtorch, AndItsGradientAreTheReferences) {
    const OpDef& op = *GetParam();
    const auto variants = variants_of(op);
    ASSERT_TRUE(variants.ok()) << variants.status().message();
    expect_as_referenced(op, *variants, std::max(op.tolerance.f32, 2e-5));
}

TEST_P(OpOnLibtorch, OfEveryTypeIsTheReferences) {
    const OpDef& op = *GetParam();
    const auto variants = variants_of(typed_cases_of(op));
    ASSERT_TRUE(variants.ok()) << variants.status().message();
    expect_as_referenced(op, *variants, std::max(op.tolerance.f32, 2e-5));
}

INSTANTIATE_TEST_SUITE_P(All, OpOnLibtorch, testing::ValuesIn(all_ops()), [](const auto& one) {
    std::string name(one.param->name);
    for (char& c : name)
        if (c == '.') c = '_';
    return name;
});

TEST(LibtorchExecutor, NamesAnIntegerThatItCannotHold) {
    Trace trace("act");
    trace.output("y", trace.input("x", {1}, DType::kU64) + 1);
    const auto graph = trace.finish();
    ASSERT_TRUE(graph.ok());
    const auto executor = make_libtorch_executor();
    ASSERT_TRUE(executor->load({*graph}, 1).ok());
    HostTensor x(DType::kU64, {1});
    x.set_int(0, -1);
    EXPECT_EQ(executor->run("act", {{"x", x}}, 1).status().message(),
              "'x' holds 18446744073709551615, beyond the integers of LibTorch");
}

}  // namespace
}  // namespace hearth::test
