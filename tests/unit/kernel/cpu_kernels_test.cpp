// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Kernels for CPUs (compiler/codegen/kernel_family.hpp), executed without a compiler: they give what the interpreter
// gives, with every choice of parameters, and read nothing that is not written.

#include "compiler/codegen/kernel_family.hpp"
#include "compiler/ops/op_table.hpp"
#include "unit/kernel/op_kernels.hpp"
#include "unit/ops/evaluation.hpp"

#include <hearth/ops.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace hearth::test {
namespace {

constexpr CpuIsa kIsas[] = {CpuIsa::kX86_64V2, CpuIsa::kX86_64V3, CpuIsa::kX86_64V4, CpuIsa::kNeon};

/// A convolution with what may surround it in a network.
struct ConvCase {
    const char* name;
    Shape x, w;
    ConvOptions options = {};
    DType dtype = DType::kF32;
    bool has_narrow_weights = false;  ///< f16 in memory
    bool reads_parts = false;         ///< x is two tensors, joined along channels
    bool has_epilogue = true;         ///< bias, residual, relu
    int64_t rows = 1;
};

const ConvCase kConvCases[] = {
    {"3 x 3", {1, 5, 9, 7}, {13, 5, 3, 3}, {.pad_begin = {1}}},
    {"no padding, few outputs", {2, 3, 6, 11}, {2, 3, 3, 2}},
    {"strides", {1, 3, 13, 11}, {6, 3, 3, 3}, {.strides = {2, 3}, .pad_begin = {1, 2}}},
    {"strides beyond the kernel", {1, 6, 9, 10}, {8, 6, 1, 2}, {.strides = {3, 4}}},
    {"a strided product", {1, 5, 8, 9}, {7, 5, 1, 1}, {.strides = {2}}},
    {"dilations", {1, 3, 12, 14}, {5, 3, 3, 3}, {.dilations = {2, 3}, .pad_begin = {2, 3}}},
    {"strides and dilations",
     {1, 2, 15, 14},
     {5, 2, 3, 3},
     {.strides = {2, 3}, .dilations = {3, 2}, .pad_begin = {3, 1}, .pad_end = {0, 4}}},
    {"groups", {2, 6, 7, 8}, {9, 2, 3, 3}, {.pad_begin = {1}, .groups = 3}},
    {"cropping", {1, 2, 9, 9}, {5, 2, 3, 3}, {.pad_begin = {-1, 0}, .pad_end = {0, -2}}},
    {"a long kernel", {1, 2, 6, 40}, {5, 2, 3, 21}, {.pad_begin = {1, 10}}},
    {"one axis", {2, 4, 37}, {6, 4, 5}, {.pad_begin = {2}}},
    {"three axes",
     {1, 3, 4, 6, 5},
     {5, 3, 3, 2, 3},
     {.strides = {1, 2, 1}, .pad_begin = {1, 0, 1}}},
    {"windows wholly outside", {1, 2, 3, 3}, {4, 2, 2, 2}, {.pad_begin = {4}}},
    {"parts", {1, 7, 6, 9}, {5, 7, 3, 3}, {.pad_begin = {1}}, DType::kF32, false, true},
    {"narrow weights", {1, 4, 6, 9}, {7, 4, 3, 3}, {.pad_begin = {1}}, DType::kF32, true},
    {"f16", {1, 4, 6, 9}, {7, 4, 3, 3}, {.pad_begin = {1}}, DType::kF16},
    {"bf16", {1, 4, 6, 9}, {7, 4, 3, 3}, {.pad_begin = {1}}, DType::kBF16},
    {"a batch of rows",
     {kBatch, 3, 5, 6},
     {4, 3, 3, 3},
     {.pad_begin = {1}},
     DType::kF32,
     false,
     false,
     true,
     3},
    {"no epilogue",
     {1, 5, 9, 7},
     {13, 5, 3, 3},
     {.pad_begin = {1}},
     DType::kF32,
     false,
     false,
     false},
};

HostTensor in_type(const HostTensor& tensor, DType dtype) {
    HostTensor narrow(dtype, tensor.shape());
    for (int64_t i = 0; i < tensor.element_count(); ++i) narrow.set(i, tensor.get(i));
    return narrow;
}

std::optional<Variant> variant_of(const ConvCase& c) {
    Trace trace("act");
    Variant variant{.text = c.name, .rows = c.rows};
    const auto input = [&](const char* name, const Shape& shape, DType dtype) {
        variant.inputs.emplace(
            name, in_type(random_tensor(shape.resolve(c.rows), variant.inputs.size() + 1), dtype));
        return trace.input(name, shape, dtype);
    };
    Tensor x;
    if (c.reads_parts) {
        Shape first = c.x, second = c.x;
        first[1] = Dim(c.x[1].count / 2);
        second[1] = Dim(c.x[1].count - first[1].count);
        x = concat({input("x0", first, c.dtype), input("x1", second, c.dtype)}, 1);
    } else {
        x = input("x", c.x, c.dtype);
    }
    const Tensor held = input("w", c.w, c.has_narrow_weights ? DType::kF16 : c.dtype);
    const Tensor w = c.has_narrow_weights ? cast(held, c.dtype) : held;
    Tensor y = conv(x, w, {}, c.options);
    if (c.has_epilogue) {
        y = conv(x, w, input("bias", {c.w[0]}, c.dtype), c.options);
        y = relu(y + input("residual", y.shape(), c.dtype));
    }
    trace.output("y", y);
    auto graph = trace.build();
    EXPECT_TRUE(graph.ok()) << c.name << ": " << graph.status().message();
    if (!graph.ok()) return {};
    variant.graph = std::move(*graph);
    return variant;
}

double tolerance_of(DType dtype) {
    if (dtype == DType::kF16) return 4e-3;
    return dtype == DType::kBF16 ? 3e-2 : 1e-5;
}

void expect_as_interpreted(OpKernel kernel, double tolerance) {
    const Status status = run_kernel(*kernel.body, kernel.launch, kernel.operands);
    ASSERT_TRUE(status.ok()) << status.message();
    for (const auto& [index, expected] : kernel.expected) {
        const OperandMemory& found = kernel.operands[index];
        EXPECT_EQ(std::ranges::count(found.is_written, false), 0)
            << kernel.launch.label << ": does not write all of operand " << index;
        EXPECT_EQ(difference(found.tensor, expected, tolerance), "")
            << kernel.launch.label << ": operand " << index;
    }
}

/// A choice of a family's parameters, with what it reads and should write.
OpKernel kernel_of(const KernelFamily& family, const KernelTask& task, const KernelChoice& choice,
                   const LoweredVariant& lowered, const std::string& label, int64_t rows) {
    const KernelDraft draft = family.write(task, choice);
    const Status status = verify_body(*draft.described);
    EXPECT_TRUE(status.ok()) << label << ": " << status.message();
    uint32_t workgroups = 1;
    for (const GridAxis& axis : draft.grid) workgroups *= axis.groups(static_cast<uint64_t>(rows));
    OpKernel kernel{.body = draft.described, .launch = {label, workgroups, rows}};
    for (const BodyBuffer& b : draft.described->buffers) {
        if (b.kind != BufferKind::kOperand) continue;
        const HostTensor& contents = lowered.values[b.value];
        const bool is_written = b.value == task.group.stores[0];
        if (is_written) kernel.expected.emplace_back(kernel.operands.size(), contents);
        kernel.operands.push_back(is_written ? OperandMemory::empty(b.dtype, contents.shape())
                                             : OperandMemory::full(contents));
    }
    EXPECT_EQ(kernel.expected.size(), 1u);
    return kernel;
}

HostTensor result_of(OpKernel kernel) {
    EXPECT_TRUE(run_kernel(*kernel.body, kernel.launch, kernel.operands).ok());
    return kernel.operands[kernel.expected[0].first].tensor;
}

TEST(CpuConvolutions, AreOneKernelThatGivesWhatTheInterpreterGives) {
    for (const ConvCase& c : kConvCases)
        for (const CpuIsa isa : kIsas) {
            const std::optional<Variant> variant = variant_of(c);
            ASSERT_TRUE(variant);
            const std::vector<OpKernel> kernels = kernels_of(*variant, cpu_caps(isa));
            EXPECT_EQ(kernels.size(), 1u) << c.name;
            for (const OpKernel& kernel : kernels)
                expect_as_interpreted(kernel, tolerance_of(c.dtype));
        }
}

/// Strips for arrays of any size: of all of these, some that differ in as much as possible.
std::vector<ConvStrip> some_strips(const ConvExtents& conv, const DeviceModel& model) {
    std::vector<ConvStrip> some;
    for (const ConvMemory memory : {ConvMemory{}, ConvMemory{600, 2048}, ConvMemory{150, 600}}) {
        const std::vector<ConvStrip> all = conv_strips(conv, model, memory);
        constexpr size_t kEach = 4;
        const size_t step = std::max<size_t>(1, all.size() / kEach);
        for (size_t i = 0; i < all.size(); i += step) some.push_back(all[i]);
    }
    return some;
}

TEST(CpuConvolutions, GiveTheSameBitsWithAnyStripAndTile) {
    bool has_blocks = false, is_by_rows = false, has_parts_of_rows = false;
    for (const ConvCase& c : kConvCases) {
        const DeviceCaps caps = cpu_caps(CpuIsa::kX86_64V3);
        const std::optional<Variant> variant = variant_of(c);
        ASSERT_TRUE(variant);
        const std::optional<LoweredVariant> lowered = lower_variant(*variant, caps);
        ASSERT_TRUE(lowered);
        const Graph& graph = lowered->graph;
        LowerOptions options;
        options.caps = caps;
        options.rows_capacity = static_cast<uint64_t>(c.rows) + 5;
        const FusionPlan plan = fuse(graph, {.store_windows = true, .store_gathered = true});
        const auto group = std::ranges::find(plan.groups, GroupKind::kCustom, &Group::kind);
        ASSERT_NE(group, plan.groups.end()) << c.name;
        const Node& node = node_of(graph, *group, OpClass::kKernel);
        const KernelTask task{graph, *group, plan.inlined, options};
        const KernelFamily* family = kernel_family(task);
        ASSERT_NE(family, nullptr);
        const ConvExtents conv(graph, node);
        std::optional<HostTensor> first;
        for (const ConvStrip& strip : some_strips(conv, device_model(caps))) {
            has_blocks = has_blocks || strip.channels < conv.in_each;
            is_by_rows = is_by_rows || strip.by_rows;
            has_parts_of_rows = has_parts_of_rows || strip.columns < conv.count[2];
            const OpKernel kernel = kernel_of(*family, task, strip, *lowered, c.name, c.rows);
            ASSERT_NO_FATAL_FAILURE(expect_as_interpreted(kernel, tolerance_of(c.dtype)));
            const HostTensor y = result_of(kernel);
            if (!first) first = y;
            EXPECT_EQ(difference(y, *first, 0), "") << c.name;
        }
    }
    EXPECT_TRUE(has_blocks && is_by_rows && has_parts_of_rows);
}

TEST(CpuConvolutions, HaveACandidateWhereverTheFamilyMatches) {
    for (const ConvCase& c : kConvCases)
        for (const CpuIsa isa : kIsas) {
            const std::optional<Variant> variant = variant_of(c);
            const std::optional<LoweredVariant> lowered = lower_variant(*variant, cpu_caps(isa));
            ASSERT_TRUE(lowered);
            int count = 0;
            for (const Node& node : lowered->graph.nodes) {
                if (!has_strip_kernel(lowered->graph, node, cpu_caps(isa))) continue;
                ++count;
                const ConvExtents conv(lowered->graph, node);
                for (const ConvStrip& strip : conv_strips(conv, device_model(cpu_caps(isa)))) {
                    EXPECT_GT(conv_cycles(conv, strip), 0);
                    EXPECT_LE(strip.array_length(conv), ConvMemory().covered);
                }
                EXPECT_FALSE(conv_strips(conv, device_model(cpu_caps(isa))).empty()) << c.name;
            }
            EXPECT_EQ(count, 1) << c.name;
        }
}

struct ProductCase {
    const char* name;
    Shape a, b;
    bool transposes_b = true;
    bool can_be_turned = true;
    int64_t rows = 1;
};

const ProductCase kProductCases[] = {
    {"16 rows", {16, 37}, {50, 37}},
    {"rows of two widths", {21, 20}, {33, 20}},
    {"5 rows of a batch", {kBatch, 40}, {29, 40}, true, true, 5},
    {"a product for each item", {kBatch, 6, 18}, {3, 6, 18}, true, true, 3},
    {"blocks of the inner extent", {7, 1100}, {40, 1100}},
    {"blocks of columns", {9, 17}, {530, 17}},
    {"a column", {13, 24}, {1, 24}},
    {"weights in rows", {16, 37}, {37, 64}, false, false},
    {"few rows", {3, 64}, {24, 64}, true, false},
};

TEST(CpuProducts, GiveTheSameBitsWithPanelsOfEitherOperand) {
    for (const ProductCase& c : kProductCases)
        for (const CpuIsa isa : {CpuIsa::kX86_64V2, CpuIsa::kX86_64V4}) {
            SCOPED_TRACE(c.name);
            Trace trace("act");
            Variant variant{.text = c.name, .rows = c.rows};
            const auto input = [&](const char* name, const Shape& shape) {
                variant.inputs.emplace(
                    name, random_tensor(shape.resolve(c.rows), variant.inputs.size() + 1));
                return trace.input(name, shape);
            };
            const bool is_each = c.a.rank() == 3;
            const Tensor a = input("a", c.a), b = input("b", is_each ? c.a : c.b);
            const Tensor y = matmul(a, b, false, c.transposes_b);
            trace.output("y", relu(y + input("residual", y.shape())));
            auto graph = trace.build();
            ASSERT_TRUE(graph.ok()) << graph.status().message();
            variant.graph = std::move(*graph);
            const DeviceCaps caps = cpu_caps(isa);
            const std::optional<LoweredVariant> lowered = lower_variant(variant, caps);
            ASSERT_TRUE(lowered);
            LowerOptions options;
            options.caps = caps;
            options.rows_capacity = static_cast<uint64_t>(c.rows) + 5;
            const FusionPlan plan =
                fuse(lowered->graph, {.store_windows = true, .store_gathered = true});
            const auto group = std::ranges::find(plan.groups, GroupKind::kMatmul, &Group::kind);
            ASSERT_NE(group, plan.groups.end());
            const KernelTask task{lowered->graph, *group, plan.inlined, options};
            const KernelFamily* family = kernel_family(task);
            ASSERT_NE(family, nullptr);
            const std::vector<KernelChoice> choices = family->candidates(task);
            EXPECT_EQ(choices.size(), c.can_be_turned ? 2u : 1u);
            std::optional<HostTensor> first;
            for (const KernelChoice& choice : choices) {
                EXPECT_GT(family->cost(task, choice), 0);
                const OpKernel kernel = kernel_of(*family, task, choice, *lowered, c.name, c.rows);
                ASSERT_NO_FATAL_FAILURE(expect_as_interpreted(kernel, 1e-5));
                const HostTensor result = result_of(kernel);
                if (!first) first = result;
                EXPECT_EQ(difference(result, *first, 0), "");
            }
        }
}

TEST(CpuProducts, OfLittleMemoryPackNoLargerPanels) {
    Trace trace("act");
    trace.output("y", matmul(trace.input("a", {16, 37}), trace.input("b", {50, 37}), false, true));
    auto graph = trace.build();
    ASSERT_TRUE(graph.ok());
    for (const CpuIsa isa : {CpuIsa::kScalar, CpuIsa::kWasm128}) {
        LowerOptions options;
        options.caps = cpu_caps(isa);
        const FusionPlan plan = fuse(*graph, {});
        const KernelTask task{*graph, plan.groups[0], plan.inlined, options};
        EXPECT_EQ(kernel_family(task)->candidates(task).size(), 1u);
    }
}

/// All samples of the operators that are convolutions or products in the end, with gradients.
TEST(CpuKernels, OfConvolutionsAndProductsGiveWhatTheInterpreterGives) {
    for (const char* name :
         {"conv", "conv_transpose", "conv_weights", "unfold", "fold", "matmul", "concat"}) {
        const OpDef* op = find_op(name);
        ASSERT_NE(op, nullptr) << name;
        auto variants = variants_of(*op);
        ASSERT_TRUE(variants.ok()) << variants.status().message();
        int count = 0;
        for (const CpuIsa isa : {CpuIsa::kScalar, CpuIsa::kX86_64V3, CpuIsa::kX86_64V4})
            for (const Variant& variant : *variants)
                for (OpKernel& kernel : kernels_of(variant, cpu_caps(isa))) {
                    ++count;
                    expect_as_interpreted(std::move(kernel), op->tolerance.f32);
                }
        EXPECT_GT(count, 0) << name;
    }
}

}  // namespace
}  // namespace hearth::test
